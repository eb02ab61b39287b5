import type { Knex } from 'knex';
import type { QueryBuilder } from 'objection';
import { Environment, Organization, Project } from '../table/account.js';

/** Base queries for an organization's projects and environments. */

export function organizationQuery(database: Knex, id: string): QueryBuilder<Organization, Organization[]> {
	return Organization.query(database).where({ id });
}

/** Returns an organization's projects, oldest first. */
export function projectQuery(database: Knex, organization_id: string): QueryBuilder<Project, Project[]> {
	return Project.query(database).where({ organization_id }).orderBy('id');
}

/** Returns a project's environments, oldest first. */
export function environmentQuery(
	database: Knex,
	organization_id: string,
	project_id: string,
): QueryBuilder<Environment, Environment[]> {
	return Environment.query(database).where({ organization_id, project_id }).orderBy('id');
}
