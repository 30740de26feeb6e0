import { translate } from "../../language.ts";
import { formatPlural } from "../../ui/count.ts";

export const texts = translate("audit", {
  adminKeyOrPassword: "admin key or password",
  signedInAt: (time: string) => `signed in ${time}`,
  signedInFrom: (signedIn: string, address: string) => `${signedIn} from ${address}`,
  session: (id: string) => `session ${id}`,
  who: "Who",
  what: "What",
  changes: "Changes",
  changeCount: (count: number) => formatPlural(count, "change"),
  audit: "Audit",
  lead: "What administrators have changed, here or through the API: the old value, then the new one. Secrets are masked. To take back a change, enter the old value again, or see Restore under Import and export.",
  searchLabel: "Search who, address, action or field",
  noChangesYet: "No changes yet",
  nothingMatches: "Nothing matches",
  noChangesHint: "Changes appear here.",
  noChangeContains: (query: string) => `No change contains “${query}”.`,
  newestKept: (total: string) => `${total}; the newest 10,000 are kept`,
  entryCount: (count: number) => formatPlural(count, "entry", "entries"),
});
