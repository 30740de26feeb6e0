import type { Account } from "../../api/accounts.ts";
import { Button } from "../../ui/button.tsx";
import type { Editing } from "../../ui/editing.tsx";
import { AccountHealth } from "./account-health.tsx";
import type { TestState } from "./use-tests.ts";

interface AccountRowProps {
  readonly account: Account;
  readonly index: number;
  readonly proxy: string;
  readonly chosen: boolean;
  readonly onChoose: (on: boolean) => void;
  readonly test: TestState | undefined;
  readonly onTest: () => void;
  readonly editing: Editing<Account>;
  /** Called to delete the account's sessions. */
  readonly onSessions: (account: Account) => void;
}

export function AccountRow(props: AccountRowProps) {
  const { account, index, proxy, chosen, onChoose, test, onTest, editing, onSessions } = props;
  const { identifier, name, remark, provider } = account;
  const title = name || identifier;
  const details = [name === "" ? "" : identifier, provider, remark].filter(Boolean).join(" · ");
  return (
    <tr aria-rowindex={index + 2}>
      <td class="account-choice">
        <input
          type="checkbox"
          aria-label={`Choose ${identifier}`}
          checked={chosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      </td>
      <td class="account-name">
        <strong class="cut" title={identifier}>
          {title}
        </strong>
        {details !== "" && (
          <span class="muted cut" title={details}>
            {details}
          </span>
        )}
      </td>
      <td class="account-health">
        <AccountHealth account={account} test={test} />
      </td>
      <td class="account-token mono muted cut">{account.has_token ? account.token_preview : "none yet"}</td>
      <td class="account-proxy muted cut">{proxy || "direct"}</td>
      <td class="account-actions">
        <Button busy={test === "running"} label={`Test ${identifier}`} onClick={onTest}>
          Test
        </Button>
        <Button kind="quiet" label={`Edit ${identifier}`} onClick={() => editing.edit(account)}>
          Edit
        </Button>
        <Button
          kind="quiet"
          label={`Delete sessions of ${identifier}`}
          title="Delete its chat sessions at the provider"
          onClick={() => onSessions(account)}
        >
          Sessions
        </Button>
        <Button kind="quiet" label={`Delete ${identifier}`} onClick={() => editing.remove(account)}>
          Delete
        </Button>
      </td>
    </tr>
  );
}
