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
  lead: "What administrators have changed, here or through the API. Secrets are masked.",
  searchLabel: "Search who, address, action or field",
  noChangesYet: "No changes yet",
  nothingMatches: "Nothing matches",
  noChangesHint: "Changes appear here.",
  noChangeContains: (query: string) => `No change contains “${query}”.`,
  newestKept: (total: string) => `${total}; the newest 10,000 are kept`,
  entryCount: (count: number) => formatPlural(count, "entry", "entries"),
});
