import { Section } from '../../../../part/section.js';
import { management } from '../../../api.js';
import { ButtonLink } from '../../../part/button-link.js';
import { LoadedFrame } from '../../../part/loaded-frame.js';
import { Screen } from '../../../part/screen.js';
import { TimeText } from '../../../part/time-text.js';
import { screenPath } from '../../../screen-path.js';
import { mayWrite } from '../../../session.js';
import { useLoaded } from '../../../use-loaded.js';
import { AssignRole } from '../assign-role.js';
import { AttributesSection } from '../attributes-form.js';
import { DeleteObject } from '../delete-object.js';
import { BackLink, ObjectLink } from '../object-link.js';
import { RoleList } from '../role-list.js';
import { InstanceRelationships } from './instance-relationships.js';

/** Resource instance page: attributes, relationships and roles. */
export function InstancePage({ name }: { readonly name: string }) {
	const loaded = useLoaded(
		(signal) =>
			management.get('/v2/facts/{proj_id}/{env_id}/resource_instances/{instance_id}', {
				path: { instance_id: name },
				signal,
			}),
		[name],
	);
	return (
		<Screen
			title={`Instance ${name}`}
			actions={
				<>
					<ButtonLink href={screenPath('check', { resource: name, tenant: loaded.value?.tenant ?? '' })}>
						Check
					</ButtonLink>
					<ButtonLink href={screenPath('graph', { from: `instance:${name}` })}>Graph</ButtonLink>
				</>
			}
		>
			<BackLink tab="instances">All instances</BackLink>
			<LoadedFrame loaded={loaded}>
				{({ id, resource, key, tenant, created_at, attributes }) => {
					const own = `${resource}:${key}`;
					const path = { instance_id: id };
					return (
						<>
							<dl class="directory-facts">
								<dt>Tenant</dt>
								<dd>
									<ObjectLink tab="tenants" name={tenant} />
								</dd>
								<dt>Created</dt>
								<dd>
									<TimeText at={created_at} />
								</dd>
							</dl>
							<Section id="roles" title="Assigned roles">
								<RoleList caption={`Roles on ${own}`} at={{ instance: own }} />
								{mayWrite.value && <AssignRole instance={own} />}
							</Section>
							<Section id="relationships" title="Relationships">
								<InstanceRelationships instance={own} />
							</Section>
							<AttributesSection
								name={own}
								attributes={attributes}
								save={(next) =>
									management.patch('/v2/facts/{proj_id}/{env_id}/resource_instances/{instance_id}', {
										path,
										body: { attributes: next },
									})
								}
							/>

							<DeleteObject
								tab="instances"
								title="Delete instance"
								text={`Delete instance ${own}? This also deletes all role assignments on the instance and its relationships.`}
								remove={() =>
									management.delete('/v2/facts/{proj_id}/{env_id}/resource_instances/{instance_id}', { path })
								}
							/>
						</>
					);
				}}
			</LoadedFrame>
		</Screen>
	);
}
