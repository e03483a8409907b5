import type { Setting } from "../src/base/config/setting.ts";
import { SETTING_KEYS, SETTINGS } from "../src/base/config/settings.ts";

/** The text of `.env.example`: every setting, commented out, with its meaning and default. */
export function envExample(): string {
  const blocks = SETTING_KEYS.map((key) => {
    const setting: Setting = SETTINGS[key];
    const value = setting.default ?? "";
    const written = /^[\w./:-]*$/.test(value) ? value : `"${value}"`;
    const without = setting.default === null ? ` (default: ${setting.without})` : "";
    return `# ${sentence(setting.meaning)}${without}\n# ${setting.name}=${written}\n`;
  });
  return `# Settings of docmirror. Copy this file to .env in the working directory and uncomment what differs.
# Flags beat the environment, the environment beats .env, .env beats the defaults, which are the values shown here.
# NAME_FILE=path instead of NAME=value reads the value from a file, as is usual for secrets.
# HTTP_PROXY, HTTPS_PROXY and NO_PROXY may be set here too: the proxy for requests to the service, and the hosts without one.

${blocks.join("\n")}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
