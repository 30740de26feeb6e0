import type { AccountInput } from "../../api/accounts.ts";
import { texts } from "./texts.ts";

/** The parsed accounts of a pasted list, and messages for the lines that could not be parsed. */
export interface ParsedAccounts {
  readonly accounts: readonly AccountInput[];
  readonly problems: readonly string[];
}

const MAX_PROBLEMS = 20;

/** Reads an account's fields from any object; null if the object does not identify an account. */
function accountFromObject(value: unknown): AccountInput | null {
  if (typeof value !== "object" || value === null) return null;
  const fields = new Map(Object.entries(value));
  const text = (name: string): string => {
    const found = fields.get(name);
    return typeof found === "string" || typeof found === "number" ? String(found).trim() : "";
  };
  const account = {
    email: text("email"),
    mobile: text("mobile"),
    password: text("password"),
    token: text("token"),
    name: text("name"),
    remark: text("remark"),
    proxy_id: text("proxy_id"),
  };
  return account.email || account.mobile || account.token ? account : null;
}

function accountsFromJson(parsed: unknown): ParsedAccounts {
  const list =
    typeof parsed === "object" && parsed !== null && "accounts" in parsed ? parsed.accounts : parsed;
  if (!Array.isArray(list)) return { accounts: [], problems: [texts.noListInJson] };
  const accounts: AccountInput[] = [];
  const problems: string[] = [];
  for (const [index, item] of list.entries()) {
    const account = accountFromObject(item);
    if (account !== null) accounts.push(account);
    else problems.push(texts.itemWithoutLogin(index + 1));
  }
  return { accounts, problems: problems.slice(0, MAX_PROBLEMS) };
}

/**
 * Parses `login:password`; the separator may be a comma, a semicolon, a tab or spaces. A login with an @ is an e-mail
 * address.
 */
function accountFromLine(line: string): AccountInput | null {
  const match = /^(\S+?)(?:\s*[:,;]\s*|\s+)(\S.*)$/s.exec(line);
  if (match === null) return null;
  const [, login = "", password = ""] = match;
  if (login.includes("@")) return { email: login, password };
  return /^\+?\d{5,}$/.test(login) ? { mobile: login, password } : null;
}

/**
 * Parses a list of accounts: JSON (a list, or an object with `accounts`), or one `login:password` per line, where `#`
 * starts a comment.
 */
export function parseAccounts(text: string): ParsedAccounts {
  const trimmed = text.trim();
  if (trimmed === "") return { accounts: [], problems: [] };
  if (trimmed.startsWith("[") || trimmed.startsWith("{")) {
    try {
      return accountsFromJson(JSON.parse(trimmed));
    } catch (error) {
      return {
        accounts: [],
        problems: [texts.invalidJson(error instanceof Error ? error.message : error)],
      };
    }
  }
  const accounts: AccountInput[] = [];
  const problems: string[] = [];
  for (const [index, raw] of trimmed.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const account = accountFromLine(line);
    if (account !== null) accounts.push(account);
    else problems.push(texts.invalidLine(index + 1));
  }
  return { accounts, problems: problems.slice(0, MAX_PROBLEMS) };
}
