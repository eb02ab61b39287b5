import { askedInstance, rolesAtRequest } from '../../../model/held-role.js';
import { management } from '../../api.js';
import { readHeldRoles } from '../../held-roles.js';
import { HeldRoleText } from '../../part/held-role-text.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { useLoaded } from '../../use-loaded.js';
import type { ListedRequest } from './listed-request.js';

interface RequestMeaningProps {
	readonly request: ListedRequest;
	/** Role to assign instead of the requested role; `null` to assign the requested role. */
	readonly otherRole: string | null;
}

/** Role assigned by an operation approval. */
const approvedRole = '_Approved_';

/**
 * The user's current roles in the requested tenant or on the requested instance, and the roles that an approval would
 * add.
 */
export function RequestMeaning({ request, otherRole }: RequestMeaningProps) {
	const { requesting_user_id, tenant_key, resource_key, type } = request;
	const instance = askedInstance(request);
	const given = type === 'operation_approval' ? approvedRole : (otherRole ?? request.access_request_details.role);
	const loaded = useLoaded(
		async (signal) => {
			const [held, added] = await Promise.all([
				readHeldRoles(requesting_user_id, tenant_key, signal),
				type === 'operation_approval' && instance === null
					? null
					: readRole(given, instance === null ? null : resource_key, signal),
			]);
			return { held: rolesAtRequest(held.data, request), truncated: held.truncated, added };
		},
		[request.id, given],
	);
	return (
		<LoadedFrame loaded={loaded}>
			{({ held, truncated, added }) => (
				<dl class="requests-meaning">
					<dt>Current access</dt>
					<dd>
						{held.length === 0 ? (
							'No roles'
						) : (
							<ul>
								{held.map((one) => (
									<li key={`${one.role} ${one.resource_instance} ${one.source}`}>
										<HeldRoleText held={one} />
									</li>
								))}
							</ul>
						)}
						{truncated && <p class="quiet">There may be more roles.</p>}
					</dd>
					<dt>Approval grants</dt>
					<dd>
						{added === null ? (
							'No role: the request has no instance and is only recorded'
						) : (
							<>
								<KeyText text={added.key} /> on <KeyText text={instance ?? tenant_key} />
								{added.permissions.length > 0 ? (
									<>
										, which grants{' '}
										{added.permissions.map((permission) => (
											<span key={permission}>
												<KeyText text={permission} />{' '}
											</span>
										))}
									</>
								) : (
									', which grants nothing by itself'
								)}
								{added.extends.length > 0 && <> and inherits from {added.extends.join(', ')}</>}
							</>
						)}
					</dd>
				</dl>
			)}
		</LoadedFrame>
	);
}

interface AddedRole {
	readonly key: string;
	readonly permissions: readonly string[];
	readonly extends: readonly string[];
}

async function readRole(role_id: string, resource_id: string | null, signal: AbortSignal): Promise<AddedRole> {
	const role =
		resource_id === null
			? await management.get('/v2/schema/{proj_id}/{env_id}/roles/{role_id}', { path: { role_id }, signal })
			: await management.get('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/roles/{role_id}', {
					path: { resource_id, role_id },
					signal,
				});
	return { key: role.key, permissions: role.permissions ?? [], extends: role.extends ?? [] };
}
