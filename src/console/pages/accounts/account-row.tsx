import type { Account } from "../../api/accounts.ts";
import { Button } from "../../ui/button.tsx";
import { AccountHealth } from "./account-health.tsx";
import type { Doing } from "./doing.ts";
import type { TestState } from "./use-tests.ts";

interface AccountRowProps {
  readonly account: Account;
  readonly index: number;
  readonly proxy: string;
  readonly test: TestState | undefined;
  readonly onTest: () => void;
  readonly onDo: (doing: Doing) => void;
}

export function AccountRow({ account, index, proxy, test, onTest, onDo }: AccountRowProps) {
  const { identifier, name, remark } = account;
  const shown = name || identifier;
  const below = [name === "" ? "" : identifier, remark].filter(Boolean).join(" · ");
  return (
    <tr aria-rowindex={index + 2}>
      <td class="account-name">
        <strong class="cut" title={identifier}>
          {shown}
        </strong>
        {below !== "" && (
          <span class="muted cut" title={below}>
            {below}
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
        <Button kind="quiet" label={`Edit ${identifier}`} onClick={() => onDo({ what: "edit", account })}>
          Edit
        </Button>
        <Button
          kind="quiet"
          label={`Delete sessions of ${identifier}`}
          title="Delete its chat sessions at the provider"
          onClick={() => onDo({ what: "sessions", account })}
        >
          Sessions
        </Button>
        <Button kind="quiet" label={`Delete ${identifier}`} onClick={() => onDo({ what: "delete", account })}>
          Delete
        </Button>
      </td>
    </tr>
  );
}
