import { type Account, deleteSessions } from "../../api/accounts.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { showToast } from "../../ui/toasts.tsx";

interface DeleteSessionsProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export function DeleteSessions({ account, onClose }: DeleteSessionsProps) {
  const run = async () => {
    const { success, message } = await deleteSessions(account.identifier);
    if (!success) throw new Error(message || "The sessions could not be deleted.");
    showToast(message || "Sessions deleted");
  };
  return (
    <Confirm title="Delete its sessions?" action="Delete sessions" run={run} onClose={onClose}>
      <p>
        All chat sessions of <strong>{account.identifier}</strong> at the provider are deleted. Conversations
        in progress on this account break off.
      </p>
    </Confirm>
  );
}
