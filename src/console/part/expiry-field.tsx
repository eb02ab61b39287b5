import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { ElementConfig } from '../model/api-types.js';
import { durationText, fieldTime } from '../model/instants.js';

interface ExpiryFieldProps {
	/** The value of the field; empty for no end. */
	readonly end: Signal<string>;
	/** What is shown beneath. */
	readonly hint?: string | null;
	/** The latest end, as the API tells it. */
	readonly latest?: string | undefined;
}

/** A field for when something is to end. The browser refuses what is past, too late, or half a date. */
export function ExpiryField({ end, hint = null, latest }: ExpiryFieldProps) {
	const hintId = useId();
	return (
		<label>
			<span>Until (optional)</span>
			<input
				type="datetime-local"
				min={fieldTime(new Date())}
				max={latest === undefined ? undefined : fieldTime(new Date(latest))}
				value={end.value}
				aria-describedby={hint === null ? undefined : hintId}
				onInput={(event) => {
					end.value = event.currentTarget.value;
				}}
			/>
			{hint !== null && (
				<small id={hintId} class="quiet">
					{hint}
				</small>
			)}
		</label>
	);
}

/** What the settings of an element say about how long it approves for; `null` for nothing. */
export function longestApproval({ settings }: Pick<ElementConfig, 'settings'>): string | null {
	const seconds = settings['max_duration'];
	return typeof seconds === 'number' ? `At most ${durationText(seconds)} from the approval.` : null;
}
