import type { Attachment } from "../../../../gateway/dialects/playground/types.ts";
import { Button } from "../../ui/button.tsx";
import { texts } from "./texts.ts";

interface AttachmentListProps {
  readonly attachments: readonly Attachment[];
  /** Absent: the attachments cannot be removed. */
  readonly onRemove?: (index: number) => void;
}

/** Lists the images and files of a message. */
export function AttachmentList({ attachments, onRemove }: AttachmentListProps) {
  if (attachments.length === 0) return null;
  return (
    <ul class="row attachments" aria-label={texts.attachments}>
      {attachments.map(({ name, kind, mediaType, data }, index) => (
        <li key={`${index} ${name}`} class="row">
          {kind === "image" && data !== "" && <img src={`data:${mediaType};base64,${data}`} alt="" />}
          <span class="cut">{name}</span>
          {onRemove !== undefined && (
            <Button kind="quiet" label={texts.removeAttachment(name)} onClick={() => onRemove(index)}>
              ×
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
