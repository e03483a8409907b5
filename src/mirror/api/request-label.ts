import { RESOURCE_LABELS, type RequestLabel } from "../../base/metrics/labels.ts";

/** What a request below the base URL asks for, by its path. A path that is not of the interface is `other`. */
export function requestLabel(url: URL, baseUrl: URL): RequestLabel {
  const prefix = baseUrl.pathname.replace(/\/$/, "");
  if (!url.pathname.startsWith(`${prefix}/api/v1/`)) return "other";
  const [name = "", part] = url.pathname.slice(`${prefix}/api/v1/`.length).split("/");
  if (name === "") return "root";
  const resource = RESOURCE_LABELS.find((one) => one === name);
  return resource === undefined ? "other" : part === "schema" ? "schema" : resource;
}
