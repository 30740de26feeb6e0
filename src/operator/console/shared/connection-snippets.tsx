import { useState } from "preact/hooks";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { SelectField } from "../ui/forms/field.tsx";
import { type Column, DataTable } from "../ui/tables/data-table.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { words } from "../ui/words.ts";
import {
  type Connection,
  listAgentSnippets,
  listBaseAddresses,
  listSdkSnippets,
  type Snippet,
} from "./snippets.ts";
import { texts } from "./texts.ts";

/** Base addresses and ready-made snippets for SDKs and agents, with a key and a model. */
export function ConnectionSnippets({ connection }: { readonly connection: Connection }) {
  const [tab, setTab] = useState("addresses");
  return (
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
