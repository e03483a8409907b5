import type { NoticeType } from "../base/config/setting.ts";
import type { Config } from "../base/config.ts";
import { ConfigError } from "../base/errors.ts";

export type WebhookFormat = Config["webhookFormat"];

/** Which notices are wanted; null: all. Projects are slugs, with `*` for any letters. */
export interface Wanted {
  readonly types: readonly NoticeType[] | null;
  readonly projects: readonly string[] | null;
}

/** Where notices go. Neither the key nor anything of the URL behind its origin may be printed. */
export interface Webhook {
  readonly url: URL;
  readonly format: WebhookFormat;
  /** The bytes of the key that signs. Null where nothing is signed: the URL itself is the secret of other formats. */
  readonly key: Buffer | null;
  readonly wanted: Wanted;
}

const MAKE_SECRET = `node -p "'whsec_' + crypto.randomBytes(32).toString('base64')"`;

/** The webhook of the settings, or null without one. Throws ConfigError where the standard format has no secret. */
export function webhookOf(config: Config): Webhook | null {
  const { webhookUrl: url, webhookSecret: key, webhookFormat: format, noticeTypes, noticeProjects } = config;
  if (url === null) return null;
  if (format === "standard" && key === null) {
    throw new ConfigError("DOCMIRROR_WEBHOOK_URL needs DOCMIRROR_WEBHOOK_SECRET, which signs what is sent", {
      hint: `make a secret with \`${MAKE_SECRET}\` and give it to the receiver too; DOCMIRROR_WEBHOOK_FORMAT=slack or teams needs none`,
    });
  }
  const wanted = { types: noticeTypes, projects: noticeProjects };
  return { url, format, key: format === "standard" ? key : null, wanted };
}
