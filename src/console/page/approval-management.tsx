import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ElementConfig } from '../model/api-types.js';
import { requestableRoles } from '../model/element/levels.js';
import { storing } from '../part/setter.js';
import { approvalsSetting, type OpenedElement, requestsSetting, reviewersSetting } from './opened-element.js';
import { requestKind } from './request-kind.js';
import { ReviewInbox } from './review-inbox.js';

/** Page for reviewing the requests in the linked elements. */
export function ApprovalManagement({ element }: { readonly element: OpenedElement }) {
	const shown = useSignal<readonly ElementConfig[] | null>(null);
	useEffect(() => {
		Promise.all([requestsSetting, approvalsSetting].map((setting) => element.linked(setting))).then(
			(found) => {
				shown.value = found.flatMap((config) => config ?? []);
			},
			storing(shown, []),
		);
	}, [element]);
	if (shown.value === null) return <p class="quiet">Loading…</p>;
	if (shown.value.length === 0) {
		return (
			<p class="quiet">
				This element is not linked to a request element. Set <code>{requestsSetting}</code> or{' '}
				<code>{approvalsSetting}</code> in its settings.
			</p>
		);
	}
	return (
		<>
			{shown.value.map((config) => (
				<LinkedInbox key={config.key} element={element} config={config} />
			))}
		</>
	);
}

/** Requests in a linked element, for its reviewers. */
export function LinkedInbox({ element, config }: { readonly element: OpenedElement; readonly config: ElementConfig }) {
	const management = useSignal<ElementConfig | null>(null);
	const named = config.settings[reviewersSetting];
	useEffect(() => {
		if (named === undefined) return;
		element.api.get<{ readonly config: ElementConfig }>(`${element.path(String(named))}/runtime`).then(
			({ config: found }) => {
				management.value = found;
			},
			// Ignore failures: without the roles, a reviewer can still approve the requested role.
			() => {},
		);
	}, [named]);
	const kind = requestKind(config);
	const roles = requestableRoles([config, ...(management.value === null ? [] : [management.value])]);
	if (kind === null) return null;
	return <ReviewInbox element={element} config={config} kind={kind} roles={roles} alwaysShown />;
}
