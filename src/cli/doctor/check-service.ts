import { EXIT } from "../../base/errors.ts";
import { RESOURCES, type RootEndpoints } from "../../resources/resources.ts";
import { fault, ok, type Result } from "./finding.ts";

/** Whether the root listing has the five resources. */
export function checkService(root: RootEndpoints): Result {
  const absent = RESOURCES.filter((resource) => root[resource] === undefined);
  if (absent.length === 0) return ok(`the root listing has ${RESOURCES.join(", ")}`);
  const rest = RESOURCES.filter((resource) => !absent.includes(resource));
  return fault(
    `the root listing has no ${absent.join(", no ")}, so each sync is partial`,
    `ask the service's operator; leave out what is gone for good: \`docmirror sync --resource ${rest.join(",")}\``,
    EXIT.interfaceChanged,
  );
}
