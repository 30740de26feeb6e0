import { useState } from "preact/hooks";
import { listModels, listModelsOfKey } from "../api/models.ts";
import { formatHref } from "../routing.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { SelectField, TextField } from "../ui/forms/field.tsx";
import { LoadState } from "../ui/loading/load-state.tsx";
import { useLoaded } from "../ui/loading/use-loaded.ts";
import { words } from "../ui/words.ts";
import { ConnectionSnippets } from "./connection-snippets.tsx";
import { KEY_PLACEHOLDER } from "./snippets.ts";
import { texts } from "./texts.ts";

interface ConnectPanelProps {
  /** A key that has just been made. Empty: the user enters one. */
  readonly initialKey?: string;
}

/** Asks for a key and a model, and shows how SDKs and agents are connected with them. */
export function ConnectPanel({ initialKey = "" }: ConnectPanelProps) {
  const { data, error, reload } = useLoaded(
    (signal) => (initialKey === "" ? listModels(signal) : listModelsOfKey(initialKey, signal)),
    initialKey,
  );
  const [key, setKey] = useState(initialKey);
  const [chosenModel, setChosenModel] = useState("");
  const models = data ?? [];
  const model = chosenModel || models[0] || "";
  const connection = { origin: location.origin, key: key.trim() || KEY_PLACEHOLDER, model };
  return (
    <div class="stack">
      <LoadState {...{ data, error, reload }} />
      <div class="setting-grid">
        <TextField
          label={texts.apiKey}
          value={key}
          onChange={setKey}
          mono
          placeholder={KEY_PLACEHOLDER}
          hint={
            initialKey === ""
              ? texts.whereKeysAre(<a href={formatHref("keys")}>{words.keys}</a>)
              : texts.snippetKeyHint
          }
        />
        <SelectField
          label={words.model}
          value={model}
          onChange={setChosenModel}
          choices={models.map((id) => [id, id] as const)}
        />
      </div>
      {initialKey !== "" && (
        <div>
          <CopyButton text={initialKey} name={texts.copyKey} />
        </div>
      )}
      <ConnectionSnippets connection={connection} />
    </div>
  );
}
