import { useState } from "preact/hooks";
import { changePassword } from "../../api/settings.ts";
import { expireSession } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";

/** Form that sets the console's password. This ends all sessions, including this one. */
export function PasswordForm({ hasPassword }: { readonly hasPassword: boolean }) {
  const [password, setPassword] = useState("");
  const [repeated, setRepeated] = useState("");
  const { busy, error, onSubmit } = useAsyncAction();
  const differs = repeated !== "" && repeated !== password;
  const change = async () => {
    if (differs || repeated === "") throw new Error("Both must be the same.");
    await changePassword(password);
    setPassword("");
    setRepeated("");
    showToast("Password changed");
    expireSession();
  };
  return (
    <Panel title="Password">
      <LeaveGuard unsaved={password + repeated === "" ? "" : "a password that was not changed"} />
      <form class="stack" onSubmit={onSubmit(change)}>
        <p class="muted">
          {hasPassword
            ? "There is a password."
            : "There is no password yet, only the deployment's admin key."}{" "}
          Changing it signs out all sessions, including this one.
        </p>
        <div class="setting-grid">
          <TextField
            label="New password"
            type="password"
            autocomplete="new-password"
            value={password}
            onChange={setPassword}
            required
          />
          <TextField
            label="Repeat password"
            type="password"
            autocomplete="new-password"
            value={repeated}
            onChange={setRepeated}
            required
            error={differs ? "This differs from the first." : ""}
          />
        </div>
        <Problem error={error} />
        <div>
          <Button type="submit" busy={busy}>
            Change password
          </Button>
        </div>
      </form>
    </Panel>
  );
}
