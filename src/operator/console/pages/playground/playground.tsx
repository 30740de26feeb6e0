import { useEffect, useState } from "preact/hooks";
import { listModels } from "../../api/models.ts";
import { readSettings } from "../../api/settings.ts";
import { takeInitialConversation } from "../../shared/initial-conversation.ts";
import { Button } from "../../ui/button.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { words } from "../../ui/words.ts";
import { createChoices, listUnsent, selectFirstModel } from "./choices.ts";
import { CodeView } from "./code-view.tsx";
import { Composer } from "./composer.tsx";
import { isEmptyDraft, NO_DRAFT, takeLastMessage } from "./draft.ts";
import { EventList } from "./event-list.tsx";
import { KeyNotice, useNeedsKey } from "./key-notice.tsx";
import { Options } from "./options.tsx";
import { useSandboxHint } from "./sandbox-hint.ts";
import { texts } from "./texts.ts";
import { ToolResults } from "./tool-results.tsx";
import { Transcript } from "./transcript.tsx";
import { type Conversation, useConversation } from "./use-conversation.ts";

/** Formats in which the request is displayed. */
const CODE = [
  ["request", words.request],
  ["curl", "curl"],
  ["javascript", "JavaScript"],
  ["python", "Python"],
] as const;

/** Page for a conversation with the gateway in any API style, with one model or two. Shows all requests and responses. */
export function Playground() {
  const { data: listedModels } = useLoaded(listModels);
  const models = listedModels ?? [];
  const aliases = Object.keys(useLoaded(readSettings).data?.model_aliases ?? {});
  const [initial] = useState(takeInitialConversation);
  const [edited, setChoices] = useState(() => createChoices(initial));
  const choices = edited.model === "" ? { ...edited, model: selectFirstModel(models) } : edited;
  // A record that is to be edited begins with its last message in the input.
  const [start] = useState(() =>
    initial === null || initial.isSent
      ? { turns: initial?.turns ?? [], draft: NO_DRAFT }
      : takeLastMessage(initial.turns),
  );
  const [draft, setDraft] = useState(start.draft);
  const pending = isEmptyDraft(draft) ? null : ({ role: "user", ...draft } as const);
  const first = useConversation(choices, choices.model, start.turns, pending);
  const second = useConversation(choices, choices.otherModel, start.turns, pending);
  const conversations = choices.otherModel === "" ? [first] : [first, second];
  const edit = (index: number) => {
    const turn = first.turns[index];
    if (turn?.role === "user") setDraft({ text: turn.text, attachments: turn.attachments ?? [] });
    for (const conversation of conversations) conversation.dropFrom(index);
  };
  useEffect(() => {
    if (initial?.isSent === true) void first.resend();
  }, []);
  // The second model gets the same history as the first one, answers included.
  useEffect(() => {
    if (choices.otherModel !== "") second.replaceTurns(first.turns);
  }, [choices.otherModel]);
  const needsKey = useNeedsKey(choices.key);
  const hint = useSandboxHint(choices.model);
  return (
    <Page title={texts.playground} lead={texts.lead}>
      <div class={conversations.length > 1 ? "playground comparing" : "playground"}>
        <div class="stack">
          <Options
            choices={choices}
            choose={(next) => setChoices((before) => ({ ...before, ...next }))}
            models={models}
            aliases={aliases}
          />
          <Panel title={texts.conversation} class="talk">
            <div class="talks">
              {conversations.map((conversation, index) => (
                <section key={index} aria-label={conversation.model}>
                  {conversations.length > 1 && <h3>{conversation.model}</h3>}
                  <Transcript conversation={conversation} hint={hint} onEdit={edit} />
                  {conversation.openCalls.length > 0 && (
                    <ToolResults calls={conversation.openCalls} onGive={conversation.giveResults} />
                  )}
                </section>
              ))}
            </div>
            {needsKey && <KeyNotice onKey={(key) => setChoices((before) => ({ ...before, key }))} />}
            <Composer
              disabled={needsKey}
              conversations={conversations}
              draft={draft}
              onDraft={setDraft}
              isChanged={draft !== start.draft}
              unsent={listUnsent(choices, pending === null ? first.turns : [...first.turns, pending])}
            />
          </Panel>
        </div>
        <WirePanel conversations={conversations} />
      </div>
    </Page>
  );
}

/** Shows the request and the raw answer of a conversation. */
function WirePanel({ conversations }: { readonly conversations: readonly Conversation[] }) {
  const [tab, setTab] = useState("events");
  const [chosen, setChosen] = useState(0);
  const conversation = conversations[chosen] ?? conversations[0];
  if (conversation === undefined) return null;
  return (
    <Panel title={texts.onWire} class="wire">
      {conversations.length > 1 && (
        <fieldset class="row saved-filters" aria-label={texts.exchangeOf}>
          {conversations.map(({ model }, index) => (
            <Button
              key={index}
              pressed={conversations[index] === conversation}
              onClick={() => setChosen(index)}
            >
              {model}
            </Button>
          ))}
        </fieldset>
      )}
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
  );
}
