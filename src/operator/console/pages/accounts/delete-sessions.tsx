import { type Account, deleteSessions } from "../../api/accounts.ts";
import { Confirm } from "../../ui/forms/confirm.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { texts } from "./texts.ts";

interface DeleteSessionsProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export function DeleteSessions({ account, onClose }: DeleteSessionsProps) {
  const run = async () => {
    const { success, message } = await deleteSessions(account.identifier);
    if (!success) throw new Error(message || texts.sessionsCouldNotBeDeleted);
    showToast(message || texts.sessionsDeleted);
  };
  return (
    <Confirm
      title={texts.deleteSessionsTitle}
      action={texts.deleteSessionsAction}
      run={run}
      onClose={onClose}
    >
      <p>{texts.deleteSessionsWarning(<strong>{account.identifier}</strong>)}</p>
    </Confirm>
  );
}
