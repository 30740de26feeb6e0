import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAsyncAction } from "../ui/use-async-action.ts";
import { KeyDetails } from "./key-details.tsx";
import { type OwnKey, readOwnKey } from "./own-key.ts";

/** The page for the holder of a key: asks for the key, and shows its limits and its use. The key is not stored. */
export function KeyPage() {
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
          Refresh
        </Button>
        <Button kind="quiet" onClick={leave}>
          Another key
        </Button>
      </>
    );
    return (
      <main>
        <KeyDetails view={view} actions={actions} problem={<Problem error={error} />} />
      </main>
    );
  }
  return (
    <main class="sign-in">
      <h1 class="brand">
        <span class="brand-mark" aria-hidden="true" />
        Your API key
      </h1>
      <form onSubmit={onSubmit(load)}>
        <TextField
          label="API key"
          type="password"
          value={key}
          onChange={setKey}
          hint="It shows what the key may be used for, and what is left of its limits. The key stays in this page."
          required
          focus
        />
        <Problem error={error} />
        <Button kind="primary" type="submit" busy={busy}>
          Show
        </Button>
      </form>
    </main>
  );
}
