import type { Config } from "../base/config.ts";
import { ConfigError } from "../base/errors.ts";

/** What a command that sends notices reads beside its own settings. */
export const NOTIFY_SETTINGS = ["webhookUrl", "webhookSecret", "staleAfterMs"] as const;

/** Where notices go. Neither the key nor anything of the URL behind its origin may be printed. */
export interface Webhook {
  readonly url: URL;
  /** The bytes of the key that signs. */
  readonly key: Buffer;
}

const MAKE_SECRET = `node -p "'whsec_' + crypto.randomBytes(32).toString('base64')"`;

/** The webhook of the settings, or null without one. Throws ConfigError where a URL has no secret. */
export function webhookOf({ webhookUrl, webhookSecret }: Config): Webhook | null {
  if (webhookUrl === null) return null;
  if (webhookSecret !== null) return { url: webhookUrl, key: webhookSecret };
  throw new ConfigError("DOCMIRROR_WEBHOOK_URL needs DOCMIRROR_WEBHOOK_SECRET, which signs what is sent", {
    hint: `make a secret with \`${MAKE_SECRET}\`, and give it to the receiver too`,
  });
}
