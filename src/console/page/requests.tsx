import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ElementConfig } from '../model/api-types.js';
import { requestableRoles } from '../model/element/levels.js';
import { setter, storing } from '../part/setter.js';
import { MyRequests } from './my-requests.js';
import { type OpenedElement, reviewersSetting } from './opened-element.js';
import { RequestForm } from './request-form.js';
import type { RequestKind } from './request-kind.js';
import { ReviewInbox } from './review-inbox.js';

/** Element in which users make and review requests. */
export function Requests({ element, kind }: { readonly element: OpenedElement; readonly kind: RequestKind }) {
	const management = useSignal<ElementConfig | null | undefined>(kind.hasRole ? undefined : null);
	const made = useSignal(0);
	useEffect(() => {
		if (!kind.hasRole) return;
		element.linked(reviewersSetting).then(setter(management), storing(management, null));
	}, [element]);
	if (management.value === undefined) return <p class="quiet">Loading…</p>;
	const roles = requestableRoles([element.config, ...(management.value === null ? [] : [management.value])]);
	return (
		<>
			<ReviewInbox element={element} config={element.config} kind={kind} roles={roles} />
			<RequestForm
				element={element}
				kind={kind}
				roles={roles({ onInstance: element.instance !== null, resourceId: element.resourceId })}
				onMade={() => {
					made.value += 1;
				}}
			/>
			<MyRequests element={element} kind={kind} made={made.value} />
		</>
	);
}
