import { useState } from "preact/hooks";
import { listModels } from "../api/models.ts";
import { formatHref } from "../routing.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { LoadState } from "../ui/load-state.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { useLoaded } from "../ui/use-loaded.ts";
import { words } from "../ui/words.ts";
import {
  type Connection,
  KEY_PLACEHOLDER,
  listAgentSnippets,
  listBaseAddresses,
  listSdkSnippets,
  type Snippet,
} from "./snippets.ts";
import { texts } from "./texts.ts";

interface ConnectPanelProps {
  /** A key that has just been made. Empty: the user enters one. */
  readonly initialKey?: string;
}

/** Base addresses and ready-made snippets for SDKs and agents. */
export function ConnectPanel({ initialKey = "" }: ConnectPanelProps) {
  const { data, error, reload } = useLoaded(listModels, "");
  const [key, setKey] = useState(initialKey);
  const [chosenModel, setChosenModel] = useState("");
  const [tab, setTab] = useState("addresses");
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
      <Tabs
        label={texts.waysToConnect}
        current={tab}
        onChange={setTab}
        tabs={[
          { id: "addresses", name: texts.baseAddresses, content: () => <Addresses {...connection} /> },
          { id: "sdks", name: "SDKs", content: () => <Snippets snippets={listSdkSnippets(connection)} /> },
          {
            id: "agents",
            name: texts.agents,
            content: () => <Snippets snippets={listAgentSnippets(connection)} />,
          },
        ]}
      />
    </div>
  );
}

type BaseAddress = readonly [style: string, address: string];

const ADDRESS_COLUMNS: readonly Column<BaseAddress>[] = [
  { title: words.apiStyle, cell: ([style]) => style },
  { title: texts.baseAddress, class: "mono", cell: ([, address]) => address },
  {
    title: words.copy,
    hidden: true,
    cell: ([style, address]) => <CopyButton text={address} label={words.copyNamed(style)} />,
  },
];

function Addresses({ origin }: Connection) {
  return (
    <DataTable
      items={listBaseAddresses(origin)}
      keyOf={([style]) => style}
      columns={ADDRESS_COLUMNS}
      empty={null}
    />
  );
}

function Snippets({ snippets }: { readonly snippets: readonly Snippet[] }) {
  const [chosen, setChosen] = useState("");
  const snippet = snippets.find(({ id }) => id === chosen) ?? snippets[0];
  if (snippet === undefined) return null;
  return (
    <div class="stack">
      <SelectField
        label={texts.client}
        value={snippet.id}
        onChange={setChosen}
        choices={snippets.map(({ id, name }) => [id, name] as const)}
      />
      <p class="hint">{snippet.place}</p>
      <CodeBlock label={snippet.name} text={snippet.text} />
    </div>
  );
}
