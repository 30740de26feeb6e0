import { useState } from "preact/hooks";
import { signIn } from "./api/login.ts";
import { endSession } from "./session.ts";
import { texts } from "./texts.ts";
import { Button } from "./ui/button.tsx";
import { Dialog } from "./ui/dialog.tsx";
import { TextField } from "./ui/field.tsx";
import { Problem } from "./ui/problem.tsx";
import { useAsyncAction } from "./ui/use-async-action.ts";

/** State that both sign-in forms share: the key, and the submit action. */
function useSignIn() {
  const [key, setKey] = useState("");
  const { busy, error, onSubmit } = useAsyncAction();
  const submit = onSubmit(() => signIn(key));
  const field = (
    <TextField
      label={texts.adminKeyOrPassword}
      type="password"
      value={key}
      onChange={setKey}
      autocomplete="current-password"
      required
      focus
    />
  );
  return { error, busy, submit, field };
}

export function SignIn() {
  const { error, busy, submit, field } = useSignIn();
  return (
    <main class="sign-in">
      <h1 class="brand">
        <span class="brand-mark" aria-hidden="true" />
        Polygate
      </h1>
      <form onSubmit={submit}>
        {field}
        <Problem error={error} />
        <Button kind="primary" type="submit" busy={busy}>
          {texts.signIn}
        </Button>
      </form>
    </main>
  );
}

/** Sign-in over the page after the session expired. The page keeps its input. */
export function SignInAgain() {
  const { error, busy, submit, field } = useSignIn();
  return (
    <Dialog title={texts.yourSessionHasEnded}>
      <form onSubmit={submit}>
        <div class="dialog-body stack">
          <p>{texts.signInAgainToGo}</p>
          {field}
        </div>
        <Problem error={error} />
        <footer>
          <Button kind="quiet" onClick={endSession}>
            {texts.leave}
          </Button>
          <Button kind="primary" type="submit" busy={busy}>
            {texts.signIn}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
