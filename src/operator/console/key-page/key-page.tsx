import { render } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/forms/field.tsx";
import { Problem } from "../ui/loading/problem.tsx";
import { useAsyncAction } from "../ui/loading/use-async-action.ts";
import { KeyDetails } from "./key-details.tsx";
import { type OwnKey, readOwnKey } from "./own-key.ts";
import { texts } from "./texts.ts";

/**
 * The page for the holder of a key: asks for the key, and shows its limits, its use and how to connect with it.
 * The key is not stored.
 */
function KeyPage() {
  const [key, setKey] = useState("");
  const [view, setView] = useState<OwnKey | null>(null);
  const { busy, error, run, onSubmit } = useAsyncAction();
  const load = async () => setView(await readOwnKey(key));
  if (view !== null) {
    const leave = () => {
      setView(null);
      setKey("");
    };
    const actions = (
      <>
        <Button busy={busy} onClick={() => void run(load)}>
          {texts.refresh}
        </Button>
        <Button kind="quiet" onClick={leave}>
          {texts.anotherKey}
        </Button>
      </>
    );
    return (
      <main>
        <KeyDetails secret={key.trim()} view={view} actions={actions} problem={<Problem error={error} />} />
      </main>
    );
  }
  return (
    <main class="sign-in">
      <h1 class="brand">
        <span class="brand-mark" aria-hidden="true" />
        {texts.yourApiKey}
      </h1>
      <form onSubmit={onSubmit(load)}>
        <TextField
          label={texts.apiKey}
          type="password"
          value={key}
          onChange={setKey}
          hint={texts.lead}
          required
          focus
        />
        <Problem error={error} />
        <Button kind="primary" type="submit" busy={busy}>
          {texts.show}
        </Button>
      </form>
    </main>
  );
}

export function showKeyPage(root: HTMLElement): void {
  render(<KeyPage />, root);
}
