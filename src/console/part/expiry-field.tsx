import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { ElementConfig } from '../model/api-types.js';
import { durationText, durationUnits, type ExpiryText, fieldTime } from '../model/instants.js';
import { DurationField } from './duration-field.js';
import { SelectField } from './select-field.js';

interface ExpiryFieldProps {
	/** Field value; empty for no expiry. */
	readonly end: Signal<ExpiryText>;
	/** Text below the field. */
	readonly hint?: string | null;
	/** Latest allowed expiry, from the API. */
	readonly latest?: string | undefined;
	/** Subject of the expiry, for screen readers, if the page has several of these fields. */
	readonly subject?: string;
}

/** Initial duration, in seconds. */
const firstDuration = 8 * durationUnits.hours;

/** Expiry field: a duration or a date. The browser rejects past, late and incomplete dates. */
export function ExpiryField({ end, hint = null, latest, subject }: ExpiryFieldProps) {
	const hintId = useId();
	const mode = end.value.slice(0, 'in'.length);
	const given = end.value.slice('in '.length);
	const label = 'Expires (optional)';
	const of = subject === undefined ? '' : `: ${subject}`;
	return (
		<div class="expiry">
			<SelectField
				label={label}
				value={mode}
				aria-label={subject && label + of}
				aria-describedby={hint === null ? undefined : hintId}
				empty={latest === undefined ? 'Never' : 'As requested'}
				options={{ in: 'After a duration', on: 'On a date' }}
				onValue={(value) => {
					end.value = value === 'in' ? `in ${firstDuration}` : value === 'on' ? 'on ' : '';
				}}
			/>
			{mode === 'in' && (
				<DurationField
					label="Duration"
					subject={subject}
					required
					seconds={given === '' ? null : Number(given)}
					onSeconds={(seconds) => {
						end.value = `in ${seconds ?? ''}`;
					}}
				/>
			)}
			{mode === 'on' && (
				<label>
					<span>Expiry date</span>
					<input
						type="datetime-local"
						required
						aria-label={subject && `Expiry date${of}`}
						min={fieldTime(new Date())}
						max={latest === undefined ? undefined : fieldTime(new Date(latest))}
						value={given}
						onInput={(event) => {
							end.value = `on ${event.currentTarget.value}`;
						}}
					/>
				</label>
			)}
			{hint !== null && (
				<small id={hintId} class="quiet">
					{hint}
				</small>
			)}
		</div>
	);
}

/** Returns a text about the element's maximum approval duration; `null` if there is no maximum. */
export function longestApproval({ settings }: Pick<ElementConfig, 'settings'>): string | null {
	const seconds = settings['max_duration'];
	return typeof seconds === 'number' ? `At most ${durationText(seconds)} after approval.` : null;
}
