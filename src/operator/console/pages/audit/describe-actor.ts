import type { AuditEntry } from "../../api/audit.ts";
import { formatTime } from "../../ui/format.ts";
import { texts } from "./texts.ts";

const SESSION = "token:";
const ADMINISTRATOR = "admin:";

/** Names the administrator. The holder of the admin key or of the password has no name. */
export function describeActor({ who }: Pick<AuditEntry, "who">): string {
  if (who === "key" || who.startsWith(SESSION)) return texts.adminKeyOrPassword;
  return who.startsWith(ADMINISTRATOR) ? who.slice(ADMINISTRATOR.length) : who;
}

/** When and where a session without a name began. Empty: it was no session, or has a name. */
export function describeSession({
  who,
  session,
  address,
}: Pick<AuditEntry, "who" | "session" | "address">): string {
  if (!who.startsWith(SESSION)) return "";
  if (session === null) return texts.session(who.slice(SESSION.length));
  const began = texts.signedInAt(formatTime(session.at));
  // The address of the entry stands below.
  return session.address === address ? began : texts.signedInFrom(began, session.address);
}
