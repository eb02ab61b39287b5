import { effect, signal } from '@preact/signals';
import { type Draft, withoutChange } from '../model/draft/draft.js';
import { openSession, sessionState } from './session.js';

/** Draft of the open environment; `null` if the draft has no changes. It outlives the session in this browser tab. */
export const currentDraft = signal<Draft | null>(null);

/**
 * Changes the draft, or begins a new draft. `seen` is the revision on which the change is based. A draft keeps its
 * oldest `seen` revision as its base, so it never overwrites changes that the user has not seen.
 */
export function editDraft(seen: number, edit: (draft: Draft) => Draft): void {
	const begun = currentDraft.value ?? { base_revision: seen, changes: [] };
	const next = edit({ ...begun, base_revision: Math.min(begun.base_revision, seen) });
	currentDraft.value = next.changes.length === 0 ? null : next;
}

/** Removes a change from the draft. */
export function removeFromDraft(index: number): void {
	if (currentDraft.value === null) return;
	const next = withoutChange(currentDraft.value, index);
	currentDraft.value = next.changes.length === 0 ? null : next;
}

/** Replaces the draft; `null` discards it. */
export function replaceDraft(draft: Draft | null): void {
	currentDraft.value = draft;
}

/** Restores this tab's draft for the open environment, and saves the draft after each change. */
export function keepDraft(): void {
	const name = `regolith-draft-${openSession().environment.id}`;
	currentDraft.value = readDraft(sessionStorage.getItem(name));
	effect(() => {
		const draft = currentDraft.value;
		if (sessionState.peek().state !== 'open') return;
		if (draft === null) sessionStorage.removeItem(name);
		else sessionStorage.setItem(name, JSON.stringify(draft));
	});
}

function readDraft(text: string | null): Draft | null {
	try {
		return text === null ? null : (JSON.parse(text) as Draft);
	} catch {
		return null;
	}
}
