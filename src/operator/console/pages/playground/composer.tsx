import { Button } from "../../ui/button.tsx";
import { FileButton } from "../../ui/forms/file-button.tsx";
import { LeaveGuard } from "../../ui/forms/leave-guard.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { words } from "../../ui/words.ts";
import { AttachmentList } from "./attachment-list.tsx";
import { type Draft, isEmptyDraft, NO_DRAFT, readAttachment } from "./draft.ts";
import { texts } from "./texts.ts";
import type { Conversation } from "./use-conversation.ts";

interface ComposerProps {
  /** The conversations that get the message. */
  readonly conversations: readonly Conversation[];
  /** Whether nothing can be sent. */
  readonly disabled: boolean;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** Whether leaving loses what the user wrote. */
  readonly isChanged: boolean;
  /** What a request in the chosen style cannot contain. */
  readonly unsent: readonly string[];
}

/** Input for a message. Without a message, the conversation is sent again. */
export function Composer({ conversations, disabled, draft, onDraft, isChanged, unsent }: ComposerProps) {
  const reading = useAsyncAction();
  const isRunning = conversations.some(({ running }) => running);
  const hasTurns = conversations.some(({ turns }) => turns.length > 0);
  const hasOpenCalls = conversations.some(({ openCalls }) => openCalls.length > 0);
  const isEmpty = isEmptyDraft(draft);
  const send = () => {
    if (disabled || isRunning || (isEmpty && !hasTurns)) return;
    for (const conversation of conversations) {
      void (isEmpty ? conversation.resend() : conversation.say({ role: "user", ...draft }));
    }
    onDraft(NO_DRAFT);
  };
  const stopAll = () => {
    for (const { stop } of conversations) stop();
  };
  const clearAll = () => {
    for (const { clear } of conversations) clear();
  };
  const attach = (files: readonly File[]) =>
    void reading.run(async () => {
      const read = await Promise.all(files.map(readAttachment));
      onDraft({ ...draft, attachments: [...draft.attachments, ...read] });
    });
  return (
    <div class="composer">
      <LeaveGuard unsaved={isEmpty || !isChanged ? "" : texts.unsentMessage} />
      {!hasOpenCalls && (
        <>
          <textarea
            aria-label={words.message}
            rows={3}
            placeholder={texts.messageHint}
            value={draft.text}
            onInput={(event) => onDraft({ ...draft, text: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              if (!isEmpty) send();
            }}
          />
          <AttachmentList
            attachments={draft.attachments}
            onRemove={(index) =>
              onDraft({ ...draft, attachments: draft.attachments.filter((_, other) => other !== index) })
            }
          />
        </>
      )}
      <Problem error={reading.error} />
      {unsent.length > 0 && <p class="muted">{texts.styleCannotContain(unsent.join(", "))}</p>}
      <div class="actions">
        {!isRunning && (
          <Button kind="primary" disabled={disabled || (isEmpty && !hasTurns)} onClick={send}>
            {isEmpty && hasTurns ? texts.sendAgain : texts.send}
          </Button>
        )}
        {isRunning && <Button onClick={stopAll}>{texts.stop}</Button>}
        {!hasOpenCalls && <FileButton name={texts.attach} accept="" multiple onFiles={attach} />}
        {hasTurns && (
          <Button kind="quiet" onClick={clearAll}>
            {texts.startOver}
          </Button>
        )}
      </div>
    </div>
  );
}
