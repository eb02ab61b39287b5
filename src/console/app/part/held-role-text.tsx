import { type HeldRole, sourceText } from '../../model/held-role.js';
import { KeyText } from './key-text.js';
import { TimeText } from './time-text.js';

/** A user's role: its key, tenant or instance, source and expiry. */
export function HeldRoleText({ held }: { readonly held: HeldRole }) {
	const { role, tenant, resource_instance, source, expires_at } = held;
	return (
		<>
			<KeyText text={role} /> {resource_instance === null ? 'in' : 'on'} <KeyText text={resource_instance ?? tenant} />{' '}
			{source !== 'direct' && <span class="quiet">({sourceText(held)})</span>}
			{expires_at !== undefined && (
				<span class="quiet">
					, expires <TimeText at={expires_at} />
				</span>
			)}
		</>
	);
}
