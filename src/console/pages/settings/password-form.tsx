import { useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { changePassword } from "../../api/settings.ts";
import { expireSession } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toasts.tsx";

/** Sets the password of this console, which ends every sign-in, also this one. */
export function PasswordForm({ hasPassword }: { readonly hasPassword: boolean }) {
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const differs = again !== "" && again !== password;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (differs || again === "") return setError("Both must be the same.");
    setBusy(true);
    setError("");
    try {
      await changePassword(password);
      setPassword("");
      setAgain("");
      toast("Password changed");
      expireSession();
    } catch (thrown) {
      setError(messageOf(thrown));
    }
    setBusy(false);
  };
  return (
    <Panel title="Password">
      <form class="stack" onSubmit={submit}>
        <p class="muted">
          {hasPassword
            ? "There is a password."
            : "There is no password yet, only the deployment's admin key."}{" "}
          A new one ends all sign-ins, also this one.
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
            label="The same again"
            type="password"
            autocomplete="new-password"
            value={again}
            onChange={setAgain}
            required
            error={differs ? "This differs from the first." : ""}
          />
        </div>
        {error !== "" && <Notice kind="error">{error}</Notice>}
        <div>
          <Button type="submit" busy={busy}>
            Change password
          </Button>
        </div>
      </form>
    </Panel>
  );
}
