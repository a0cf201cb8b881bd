package linear

// The requests, one operation each. Pages are small enough that no request comes near the 10000
// points that Linear allows per request: a field counts a tenth, an object one, and a list as
// often as it may have entries.
const (
	whoamiQuery = `query Whoami { viewer { displayName } }`

	teamQuery = `query Team($team: String!, $project: String!) {
  teams(filter: {key: {eqIgnoreCase: $team}}, first: 1) {
    nodes {
      key
      projects(filter: {name: {eqIgnoreCase: $project}}, first: 1) { nodes { name } }
    }
  }
}`

	statesQuery = `query States($team: String!, $after: String) {
  workflowStates(filter: {team: {key: {eqIgnoreCase: $team}}}, first: 100, after: $after) {
    nodes { id name type position }
    pageInfo { hasNextPage endCursor }
  }
}`

	labelsQuery = `query Labels($team: String!, $after: String) {
  issueLabels(filter: {or: [{team: {key: {eqIgnoreCase: $team}}}, {team: {null: true}}]}, first: 100, after: $after) {
    nodes { id name isGroup team { key } }
    pageInfo { hasNextPage endCursor }
  }
}`

	// namesQuery checks whether ids still have the names under which they are known.
	namesQuery = `query Names($states: [ID!]!, $labels: [ID!]!) {
  workflowStates(filter: {id: {in: $states}}, first: 1) { nodes { id name } }
  issueLabels(filter: {id: {in: $labels}}, first: 200) { nodes { id name } }
}`

	// issuesQuery pages backwards, because Linear returns the newest first. The lists of an ordinary issue fit, so that
	// it need not be read on its own.
	issuesQuery = `query Issues($filter: IssueFilter!, $last: Int!, $before: String) {
  issues(filter: $filter, last: $last, before: $before, orderBy: createdAt) {
    nodes {
      ...Brief
      trashed
      team { key }
      comments(first: 10) { ...Comments }
      children(first: 5) { ...Children }
      inverseRelations(first: 5) { ...Blockers }
      attachments(first: 3) { ...Attachments }
    }
    pageInfo { hasPreviousPage startCursor }
  }
}
` + briefFragment + commentsFragment + childrenFragment + blockersFragment + attachmentsFragment

	issueQuery = `query Issue($id: String!) {
  issue(id: $id) { ...Whole }
}
` + wholeFragment

	moreLabelsQuery = `query MoreLabels($id: String!, $after: String!) {
  issue(id: $id) { labels(first: 100, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } } }
}`

	moreCommentsQuery = `query MoreComments($id: String!, $after: String!) {
  issue(id: $id) { comments(first: 100, after: $after) { ...Comments } }
}
` + commentsFragment

	moreChildrenQuery = `query MoreChildren($id: String!, $after: String!) {
  issue(id: $id) { children(first: 100, after: $after) { ...Children } }
}
` + childrenFragment

	moreBlockersQuery = `query MoreBlockers($id: String!, $after: String!) {
  issue(id: $id) { inverseRelations(first: 100, after: $after) { ...Blockers } }
}
` + blockersFragment

	moreAttachmentsQuery = `query MoreAttachments($id: String!, $after: String!) {
  issue(id: $id) { attachments(first: 100, after: $after) { ...Attachments } }
}
` + attachmentsFragment

	// The mutations return the issue as it is after the change, so that it need not be read again.
	updateMutation = `mutation Update($id: String!, $input: IssueUpdateInput!) {
  issueUpdate(id: $id, input: $input) { success issue { ...Whole } }
}
` + wholeFragment

	commentMutation = `mutation Comment($input: CommentCreateInput!) {
  commentCreate(input: $input) { success comment { issue { ...Whole } } }
}
` + wholeFragment
)

const (
	wholeFragment = `fragment Whole on Issue {
  ...Brief
  trashed
  team { key }
  comments(first: 50) { ...Comments }
  children(first: 50) { ...Children }
  inverseRelations(first: 50) { ...Blockers }
  attachments(first: 50) { ...Attachments }
}
` + briefFragment + commentsFragment + childrenFragment + blockersFragment + attachmentsFragment

	briefFragment = `fragment Brief on Issue {
  id identifier url title description priority createdAt updatedAt
  state { name type }
  labels(first: 20) { nodes { name } pageInfo { hasNextPage endCursor } }
  creator { displayName app }
  botActor { name }
  externalUserCreator { displayName }
  assignee { displayName }
  parent { identifier }
}
`
	commentsFragment = `fragment Comments on CommentConnection {
  nodes { id body createdAt user { displayName app } botActor { name } externalUser { displayName } }
  pageInfo { hasNextPage endCursor }
}
`
	childrenFragment = `fragment Children on IssueConnection {
  nodes { identifier state { name type } }
  pageInfo { hasNextPage endCursor }
}
`
	blockersFragment = `fragment Blockers on IssueRelationConnection {
  nodes { type issue { identifier state { name type } } }
  pageInfo { hasNextPage endCursor }
}
`
	attachmentsFragment = `fragment Attachments on AttachmentConnection {
  nodes { url title metadata createdAt }
  pageInfo { hasNextPage endCursor }
}
`
)
