import type { Account } from "../../api/accounts.ts";

/** What the person is doing on the accounts page. */
export type Doing =
  | { readonly what: "nothing" | "add" | "import" }
  | { readonly what: "edit" | "delete" | "sessions"; readonly account: Account };
