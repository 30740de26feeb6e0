import { useState } from "preact/hooks";
import { type ApiKey, rotateKey } from "../../api/config.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { type Choice, SelectField } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";

const GRACES: readonly Choice[] = [
  ["0", "Not at all"],
  ["3600", "One hour"],
  ["86400", "One day"],
  ["604800", "One week"],
  ["2592000", "30 days"],
];

interface RotateKeyProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onRotated: () => Promise<void>;
}

/** Dialog that replaces a key's secret and shows the new one once. */
export function RotateKey({ apiKey, onClose, onRotated }: RotateKeyProps) {
  const [grace, setGrace] = useState("86400");
  const [secret, setSecret] = useState("");
  const { busy, error, onSubmit } = useAsyncAction();
  const rotate = async () => {
    setSecret((await rotateKey(apiKey.id, Number(grace))).key);
    await onRotated();
  };
  if (secret !== "") {
    return (
      <Dialog title="The new key">
        <div class="dialog-body stack">
          <p>Copy it now, and give it to who uses the key.</p>
          <CodeBlock label="The new key" text={secret} />
        </div>
        <footer>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </footer>
      </Dialog>
    );
  }
  return (
    <Dialog title="Rotate this key?" onClose={onClose}>
      <form onSubmit={onSubmit(rotate)}>
        <div class="dialog-body stack">
          <p>
            <strong>
              <TruncatedText text={apiKey.name || apiKey.key} />
            </strong>{" "}
            gets a new secret. Its settings, its use and what its callers have stored stay.
          </p>
          <SelectField
            label="The old secret goes on working"
            value={grace}
            onChange={setGrace}
            choices={GRACES}
          />
        </div>
        <Problem error={error} />
        <footer>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" busy={busy}>
            Rotate key
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
