import { SERVICE_SETTINGS } from "../../base/config/service-settings.ts";

/** How messages name what the reader may change: a setting of the command, or an option of the typed client. */
export type NameOf = (key: keyof typeof SERVICE_SETTINGS) => string;

/** What messages say differently to those who type commands and to those who write programs. */
export interface Wording {
  nameOf: NameOf;
  /** What to do once the host is lost. */
  whenLost: string;
}

export const COMMAND_WORDING: Wording = {
  nameOf: (key) => SERVICE_SETTINGS[key].name,
  whenLost: "try again later: what was read is stored, and the next run continues from there",
};
