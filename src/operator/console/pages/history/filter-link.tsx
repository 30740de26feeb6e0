import type { ComponentChildren } from "preact";
import type { HistorySummary } from "../../api/history.ts";
import { formatHref } from "../../routing.ts";
import type { AccountNames } from "../../shared/account-names.ts";
import { formatApiStyle, formatOperation } from "../../ui/api-styles.ts";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { texts } from "./texts.ts";

interface FilterLinkProps {
  /** Name of the filter; `q`: the search. */
  readonly name:
    | "account"
    | "code"
    | "dialect"
    | "key"
    | "model"
    | "path"
    | "provider"
    | "q"
    | "source"
    | "status"
    | "team";
  /** Empty: there is nothing to filter by. */
  readonly value: string;
  /** Query of the list. Its other filters stay. */
  readonly query: string;
  /** The text; absent: the value. */
  readonly children?: ComponentChildren;
}

/** The value with which a filter finds an entry: its name, or its id where the name is empty or would be read as a list. */
export const filterValue = (id: string, name: string | null): string =>
  name === null || name === "" || name.includes(",") ? id : name;

/** The value with which the filter finds an account. */
export const accountFilter = (account: string, names: AccountNames): string =>
  filterValue(account, names.get(account) ?? null);

/** A value of a record. A click filters the list by it. */
export function FilterLink({
  name,
  value,
  query,
  children = <TruncatedText text={value} />,
}: FilterLinkProps) {
  if (value === "") return <span class="cut">{children}</span>;
  const params = new URLSearchParams(query);
  params.delete("page");
  params.set(name, value);
  return (
    <a class="cut" href={formatHref("history", "", params.toString())} title={texts.filterBy(value)}>
      {children}
    </a>
  );
}

type WorkLinkProps = Pick<HistorySummary, "dialect" | "operation"> & Pick<FilterLinkProps, "query">;

/** The work of a record: its API style, by which a click filters, or the name of work that is no generation. */
export const WorkLink = ({ dialect, operation, query }: WorkLinkProps) =>
  formatOperation(operation) ?? (
    <FilterLink name="dialect" value={dialect} query={query}>
      {formatApiStyle(dialect)}
    </FilterLink>
  );
