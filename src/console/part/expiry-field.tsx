import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { ElementConfig } from '../model/api-types.js';
import { durationText, fieldTime } from '../model/instants.js';

interface ExpiryFieldProps {
	/** Field value; empty for no expiry. */
	readonly end: Signal<string>;
	/** Text below the field. */
	readonly hint?: string | null;
	/** Latest allowed expiry, from the API. */
	readonly latest?: string | undefined;
}

/** Expiry field. The browser refuses past, late and incomplete dates. */
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

/** Returns a text about the element's maximum approval duration; `null` if there is no maximum. */
export function longestApproval({ settings }: Pick<ElementConfig, 'settings'>): string | null {
	const seconds = settings['max_duration'];
	return typeof seconds === 'number' ? `At most ${durationText(seconds)} after approval.` : null;
}
