import { useState } from "preact/hooks";
import { changePassword } from "../../api/settings.ts";
import { expireSession } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { LeaveGuard } from "../../ui/forms/leave-guard.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { Panel } from "../../ui/page.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { texts } from "./texts.ts";

/** Form for owners that sets the password of the sign-in without a name. This ends all sessions, including this one. */
export function PasswordForm({ hasPassword }: { readonly hasPassword: boolean }) {
  const [password, setPassword] = useState("");
  const [repeated, setRepeated] = useState("");
  const { busy, error, onSubmit } = useAsyncAction();
  const differs = repeated !== "" && repeated !== password;
  const change = async () => {
    if (differs || repeated === "") throw new Error(texts.passwordsDiffer);
    await changePassword(password);
    setPassword("");
    setRepeated("");
    showToast(texts.passwordChanged);
    expireSession();
  };
  return (
    <Panel title={texts.sharedPassword} folds>
      <LeaveGuard unsaved={password + repeated === "" ? "" : texts.unsavedPassword} />
      <form class="stack" onSubmit={onSubmit(change)}>
        <p class="muted">
          {texts.sharedPasswordUse} {hasPassword ? texts.passwordIsSet : texts.passwordIsNotSet}{" "}
          {texts.passwordEndsSessions}
        </p>
        <div class="setting-grid">
          <TextField
            label={texts.newPassword}
            type="password"
            autocomplete="new-password"
            value={password}
            onChange={setPassword}
            required
          />
          <TextField
            label={texts.repeatPassword}
            type="password"
            autocomplete="new-password"
            value={repeated}
            onChange={setRepeated}
            required
            error={differs ? texts.passwordsDiffer : ""}
          />
        </div>
        <Problem error={error} />
        <div>
          <Button type="submit" needs="owner" busy={busy}>
            {texts.changePassword}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
