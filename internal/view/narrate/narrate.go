// Package narrate puts what the core returns into words for people: entries of a journal,
// explanations, outcomes of signals and conditions of agents. Every surface uses its words, so that
// the page, the dashboard, the command line and the tools of MCP say the same. It decides
// nothing and lays nothing out. The words that are part of entries are chosen by package engine, because a
// decision that is made again must give the same entry.
package narrate
