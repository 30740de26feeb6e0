import { translate } from "../../language.ts";
import { formatPlural } from "../../ui/count.ts";

/** Translated texts of a setting. Its English texts come from the server. */
interface SettingTexts {
  readonly title: string;
  readonly description: string;
  /** Titles of its values. */
  readonly choices?: Readonly<Record<string, string>>;
}

/** By the path of the setting. */
const fields: Readonly<Record<string, SettingTexts>> = {};
/** By the English heading. */
const headings: Readonly<Record<string, string>> = {};

export const texts = translate("settings", {
  settings: "Settings",
  lead: "Changes take effect everywhere within two seconds.",
  searchSettings: "Search settings",
  noSettingMatches: "No setting matches.",
  fields,
  headings,
  default: (value: string) => `Default: ${value}.`,
  on: "on",
  off: "off",
  mustBeNumber: (isWhole: boolean, from: string, to: string) => {
    const bounds = [from === "" ? "" : ` from ${from}`, to === "" ? "" : ` to ${to}`].join("");
    return `Must be a ${isWhole ? "whole number" : "number"}${bounds}.`;
  },
  unsavedChangeCount: (count: number) => formatPlural(count, "unsaved change"),
  settingsSaved: "Settings saved",
  passwordsDiffer: "The passwords differ.",
  passwordChanged: "Password changed",
  unsavedPassword: "a password that was not changed",
  sharedPassword: "Password for signing in without a name",
  sharedPasswordUse:
    "It works like the admin key. The passwords of administrators with a name are on the page Administrators.",
  passwordIsSet: "A password is set.",
  passwordIsNotSet: "No password is set, only the deployment's admin key.",
  passwordEndsSessions: "Changing the password signs out all sessions, including this one.",
  newPassword: "New password",
  repeatPassword: "Repeat password",
  changePassword: "Change password",
  telemetry: "OpenTelemetry",
  telemetryOff: "No traces and metrics are sent. The variable OTEL_EXPORTER_OTLP_ENDPOINT names a collector.",
  telemetryOn: (protocol: string) =>
    `Traces and metrics are sent by ${protocol}. The numbers are those of the isolate or process that answered.`,
  traces: "Traces",
  metrics: "Metrics",
  collector: "Collector",
  sent: "Sent",
  dropped: "Dropped",
  lastDelivery: "Last delivery",
  delivering: "no error",
  notSent: "not sent",
});
