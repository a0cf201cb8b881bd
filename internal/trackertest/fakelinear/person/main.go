// Command person does, at a server that answers like Linear, what people do in their
// browsers:
//
//	person URL show               all issues with their comments
//	person URL state KEY          the state of one
//	person URL comment KEY AUTHOR TEXT
//	person URL move KEY STATE
//	person URL check KEY STATE... fails unless it has been in these states, in this order, and no comment is there twice
//
// URL is that of its GraphQL interface, or a file that contains it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatalf("person: %v", err)
	}
}

// issue is an issue on the server's page.
type issue struct {
	Key      string   `json:"key"`
	Title    string   `json:"title"`
	State    string   `json:"state"`
	States   []string `json:"states"` // the states it has had, in order
	Comments []struct {
		Author string `json:"author"`
		Text   string `json:"text"`
	} `json:"comments"`
}

func run(args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("give the server's URL, or a file with it, and what to do")
	}
	at, what, rest := serverBase(args[0]), args[1], args[2:]
	switch {
	case what == "show" && len(rest) == 0:
		return showIssues(at, out)
	case what == "state" && len(rest) == 1:
		is, err := findIssue(at, rest[0])
		fmt.Fprintln(out, is.State)
		return err
	case what == "comment" && len(rest) == 3:
		return postForm(at+"/people/comment", url.Values{"key": {rest[0]}, "author": {rest[1]}, "text": {rest[2]}})
	case what == "move" && len(rest) == 2:
		return postForm(at+"/people/move", url.Values{"key": {rest[0]}, "column": {rest[1]}})
	case what == "check" && len(rest) > 1:
		return checkIssue(at, rest[0], rest[1:], out)
	}
	return fmt.Errorf("%q does not fit: use show, state KEY, comment KEY AUTHOR TEXT, move KEY STATE or check KEY STATE", what)
}

// serverBase returns the address of the server's pages.
func serverBase(where string) string {
	if text, err := os.ReadFile(where); err == nil {
		where = string(text)
	}
	return strings.TrimSuffix(strings.TrimSpace(where), "/graphql")
}

var client = http.Client{Timeout: 10 * time.Second}

func readIssues(at string) (list []issue, err error) {
	res, err := client.Get(at + "/issues")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	return list, json.NewDecoder(res.Body).Decode(&list)
}

func findIssue(at, key string) (issue, error) {
	list, err := readIssues(at)
	for _, is := range list {
		if is.Key == key {
			return is, nil
		}
	}
	return issue{}, errors.Join(err, fmt.Errorf("there is no issue %s", key))
}

func showIssues(at string, out io.Writer) error {
	list, err := readIssues(at)
	for _, is := range list {
		fmt.Fprintf(out, "%s %s: %s\n", is.Key, is.Title, strings.Join(is.States, " -> "))
		for _, c := range is.Comments {
			lines := strings.FieldsFunc(c.Text, func(r rune) bool { return r == '\n' })
			lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "<!--") })
			fmt.Fprintf(out, "    %s: %s\n", c.Author, strings.Join(lines, " "))
		}
	}
	return err
}

func postForm(to string, form url.Values) error {
	res, err := client.PostForm(to, form)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
		return fmt.Errorf("%s: %s", res.Status, strings.TrimSpace(string(text)))
	}
	return nil
}

// checkIssue returns an error unless an issue has been in all states and no comment is there
// twice.
func checkIssue(at, key string, want []string, out io.Writer) error {
	is, err := findIssue(at, key)
	if err != nil {
		return err
	}
	if !slices.Equal(is.States, want) {
		return fmt.Errorf("%s has been in %s, not in %s", key, strings.Join(is.States, ", "), strings.Join(want, ", "))
	}
	seen := map[string]bool{}
	for _, c := range is.Comments {
		if seen[c.Text] {
			return fmt.Errorf("%s: this was said twice: %s", key, c.Text)
		}
		seen[c.Text] = true
	}
	fmt.Fprintf(out, "%s: %s; %d comments, none twice\n", key, strings.Join(is.States, " -> "), len(is.Comments))
	return nil
}
