import { useState } from "preact/hooks";
import { type ApiKey, rotateKey } from "../../api/keys.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { type Choice, SelectField } from "../../ui/forms/field.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

const GRACES: readonly Choice[] = [
  ["0", texts.notAtAll],
  ["3600", texts.oneHour],
  ["86400", texts.oneDay],
  ["604800", texts.oneWeek],
  ["2592000", words.days30],
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
    setSecret((await rotateKey(apiKey.id, Number(grace))).key ?? "");
    await onRotated();
  };
  if (secret !== "") {
    return (
      <Dialog title={texts.newKey}>
        <div class="dialog-body stack">
          <p>{apiKey.hashed ? texts.copyHashedKeyHint : texts.copyKeyHint}</p>
          <CodeBlock label={texts.newKey} text={secret} />
        </div>
        <footer>
          <Button kind="primary" onClick={onClose}>
            {texts.done}
          </Button>
        </footer>
      </Dialog>
    );
  }
  return (
    <Dialog title={texts.rotateKey} onClose={onClose}>
      <form onSubmit={onSubmit(rotate)}>
        <div class="dialog-body stack">
          <p>
            {texts.rotateKeyLead(
              <strong>
                <TruncatedText text={apiKey.name || apiKey.key} />
              </strong>,
            )}
          </p>
          <SelectField label={texts.oldKeyValidFor} value={grace} onChange={setGrace} choices={GRACES} />
        </div>
        <Problem error={error} />
        <footer>
          <Button kind="quiet" onClick={onClose}>
            {words.cancel}
          </Button>
          <Button kind="primary" type="submit" busy={busy}>
            {texts.rotateKeyTitle}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
