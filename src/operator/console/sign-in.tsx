import { useEffect, useRef, useState } from "preact/hooks";
import { readSignInOffer, signIn } from "./api/login.ts";
import { getSignInFailure, rememberPage, SIGN_IN_ADDRESS } from "./identity-sign-in.ts";
import { endSession } from "./session.ts";
import { texts } from "./texts.ts";
import { Button } from "./ui/button.tsx";
import { Dialog } from "./ui/dialog.tsx";
import { TextField } from "./ui/forms/field.tsx";
import { Problem } from "./ui/loading/problem.tsx";
import { useAsyncAction } from "./ui/loading/use-async-action.ts";

/** What both sign-in forms share: the name, the key or password, and the submit action. */
function useSignIn() {
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const { busy, error, onSubmit } = useAsyncAction();
  const submit = onSubmit(() => signIn(name, key));
  const fields = (
    <>
      <TextField
        label={texts.administratorName}
        value={name}
        onChange={setName}
        autocomplete="username"
        hint={texts.emptyWithAdminKey}
      />
      <TextField
        label={texts.adminKeyOrPassword}
        type="password"
        value={key}
        onChange={setKey}
        autocomplete="current-password"
        hint={texts.adminKeyHint}
        required
        focus
      />
    </>
  );
  return { error: error || getSignInFailure(), busy, submit, fields };
}

/** Link to the identity provider, if there is one. */
function IdentityProviderLink() {
  const [offer, setOffer] = useState({ enabled: false, label: "" });
  useEffect(() => {
    void readSignInOffer().then(setOffer);
  }, []);
  if (!offer.enabled) return null;
  return (
    <a class="button" href={SIGN_IN_ADDRESS} onClick={rememberPage}>
      {texts.signInWith(offer.label || texts.identityProvider)}
    </a>
  );
}

export function SignIn() {
  const { error, busy, submit, fields } = useSignIn();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("[data-focus]")?.focus(), []);
  return (
    <main class="sign-in">
      <h1 class="brand">
        <span class="brand-mark" aria-hidden="true" />
        Polygate
      </h1>
      <form ref={form} onSubmit={submit}>
        {fields}
        <Problem error={error} />
        <Button kind="primary" type="submit" busy={busy}>
          {texts.signIn}
        </Button>
        <IdentityProviderLink />
      </form>
    </main>
  );
}

/** Sign-in over the page after the session expired. The page keeps its input, unless the identity provider is chosen. */
export function SignInAgain() {
  const { error, busy, submit, fields } = useSignIn();
  return (
    <Dialog title={texts.yourSessionHasEnded}>
      <form onSubmit={submit}>
        <div class="dialog-body stack">
          <p>{texts.signInAgain}</p>
          {fields}
        </div>
        <Problem error={error} />
        <footer>
          <Button kind="quiet" onClick={endSession}>
            {texts.leave}
          </Button>
          <IdentityProviderLink />
          <Button kind="primary" type="submit" busy={busy}>
            {texts.signIn}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
