import type { Account } from "../../api/accounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { describeHealth } from "./describe-health.ts";
import type { TestState } from "./use-tests.ts";

interface AccountHealthProps {
  readonly account: Account;
  readonly test: TestState | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** Shows an account's condition. A click on its reason opens the details, which have the whole text. */
export function AccountHealth({ account, test, isOpen, onToggle }: AccountHealthProps) {
  const { tone, label, text, lines } = describeHealth(account, test);
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      {lines.length > 0 && (
        <button type="button" class="reason-toggle muted" aria-expanded={isOpen} onClick={onToggle}>
          <span class="cut">{text}</span>
        </button>
      )}
    </>
  );
}
