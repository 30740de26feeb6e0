import { useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import { resolveModel } from "../../api/models.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/page.tsx";
import { texts } from "./texts.ts";

/** Shows which model a name resolves to. */
export function ResolveName() {
  const [name, setName] = useState("");
  const [answer, setAnswer] = useState("");
  const [busy, setBusy] = useState(false);
  const resolve = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setAnswer(
      await resolveModel(name.trim()).then(
        (id) => texts.servedBy(name.trim(), id),
        (error) => toMessage(error),
      ),
    );
    setBusy(false);
  };
  return (
    <Panel title={texts.lookUpTitle}>
      <form class="inline-form" onSubmit={resolve}>
        <TextField
          label={texts.requestedName}
          value={name}
          onChange={setName}
          required
          mono
          placeholder="gpt-4o"
        />
        <Button type="submit" busy={busy}>
          {texts.lookUp}
        </Button>
        <p aria-live="polite">{answer}</p>
      </form>
    </Panel>
  );
}
