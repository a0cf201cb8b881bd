// Package narrate describes for people what the core returns: journal entries, explanations, outcomes
// of signals and conditions of agents. Every surface uses it, so that the web page, the dashboard, the
// command line and the MCP tools use the same words. It makes no decisions and lays nothing out.
// Package engine chooses the words that are part of entries, because repeating a decision must give
// the same entry.
package narrate
