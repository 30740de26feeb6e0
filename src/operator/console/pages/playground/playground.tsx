import { useState } from "preact/hooks";
import { listModels } from "../../api/models.ts";
import { readSettings } from "../../api/settings.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { words } from "../../ui/words.ts";
import { CodeView } from "./code-view.tsx";
import { Composer } from "./composer.tsx";
import { EventList } from "./event-list.tsx";
import { Options } from "./options.tsx";
import { texts } from "./texts.ts";
import { Transcript } from "./transcript.tsx";
import { useConversation } from "./use-conversation.ts";

/** Formats in which the request is displayed. */
const CODE = [
  ["request", words.request],
  ["curl", "curl"],
  ["javascript", "JavaScript"],
  ["python", "Python"],
] as const;

/** Page for a conversation with the gateway in any API style. Shows all requests and responses. */
export function Playground() {
  const models = useLoaded(listModels).data ?? [];
  const aliases = Object.keys(useLoaded(readSettings).data?.model_aliases ?? {});
  const conversation = useConversation();
  const [tab, setTab] = useState("events");
  return (
    <Page title={texts.playground} lead={texts.lead}>
      <div class="playground">
        <div class="stack">
          <Options conversation={conversation} models={models} aliases={aliases} />
          <Panel title={texts.conversation} class="talk">
            <Transcript conversation={conversation} />
            <Composer conversation={conversation} />
          </Panel>
        </div>
        <Panel title={texts.onWire} class="wire">
          <Tabs
            label={texts.onWire}
            current={tab}
            onChange={setTab}
            tabs={[
              {
                id: "events",
                name: texts.rawAnswer,
                content: () => <EventList exchange={conversation.exchange} />,
              },
              ...CODE.map(([id, name]) => ({
                id,
                name,
                content: () => <CodeView conversation={conversation} kind={id} />,
              })),
            ]}
          />
        </Panel>
      </div>
    </Page>
  );
}
