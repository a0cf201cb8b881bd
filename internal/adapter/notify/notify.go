// Package notify tells people something, one way each: on the desktop, by a webhook, by a
// server that speaks like ntfy, by Slack, by the bell of a terminal.
package notify
