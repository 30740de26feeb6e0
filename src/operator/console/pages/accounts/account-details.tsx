import { useLayoutEffect, useRef } from "preact/hooks";
import type { Account } from "../../api/accounts.ts";
import { describeHealth } from "./describe-health.ts";
import type { TestState } from "./use-tests.ts";

interface AccountDetailsProps {
  readonly account: Account;
  readonly test: TestState | undefined;
  readonly columnCount: number;
  /** Called with the height of the row, in pixels, when it has changed. */
  readonly onHeight: (height: number) => void;
}

/** A row below an account's row: all that is known of its condition, with the provider's own words. */
export function AccountDetails({ account, test, columnCount, onHeight }: AccountDetailsProps) {
  const row = useRef<HTMLTableRowElement>(null);
  useLayoutEffect(() => onHeight(row.current?.offsetHeight ?? 0));
  return (
    <tr class="account-details" ref={row}>
      <td colSpan={columnCount}>
        <ul class="plain-list">
          {describeHealth(account, test).lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </td>
    </tr>
  );
}
