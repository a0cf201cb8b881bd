package fakelinear

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"

	"orange/internal/trackertest"
)

// An occurrence is something that a delivery reports, as it was when it happened.
type occurrence struct {
	id     string
	kind   string // Issue, Comment, Attachment or IssueLabel
	action string // create, update or remove
	url    string
	data   map[string]any
}

// maxOccurrences limits how many occurrences are kept.
const maxOccurrences = 1000

// recordChange records that something happened to an issue or to what belongs to it.
func (s *FakeServer) recordChange(kind, action string, i *issue, what any) {
	o := occurrence{kind: kind, action: action}
	switch what := what.(type) {
	case *comment:
		o.url, o.data = s.st.issueURL(i)+"#comment-"+what.ID[:8], s.st.commentData(i, what)
	case *attachment:
		o.data = map[string]any{
			"id": what.ID, "issueId": i.ID, "url": what.URL, "title": what.Title, "metadata": what.Metadata,
			"groupBySource": false, "createdAt": formatTime(what.Created), "updatedAt": formatTime(what.Created),
		}
	case *teamLabel:
		o.data = map[string]any{"id": what.ID, "name": what.Name, "color": "#888888", "isGroup": what.Group, "createdAt": formatTime(s.st.Last), "updatedAt": formatTime(s.st.Last)}
	default:
		o.url, o.data = s.st.issueURL(i), s.st.issueData(i)
	}
	s.addOccurrence(o)
}

func (s *FakeServer) addOccurrence(o occurrence) {
	o.id = s.st.newID()
	if s.occurrences = append(s.occurrences, o); len(s.occurrences) > maxOccurrences {
		s.occurrences = s.occurrences[1:]
	}
}

func (st *state) teamData() map[string]any {
	return map[string]any{"id": st.Team.ID, "key": st.Team.Key, "name": st.Team.Name}
}

func (st *state) issueData(i *issue) map[string]any {
	labels := []any{}
	for _, id := range i.Labels {
		if l := st.findLabel(id); l != nil {
			labels = append(labels, map[string]any{"id": l.ID, "name": l.Name, "color": "#888888"})
		}
	}
	c := st.findColumn(i.State)
	return map[string]any{
		"id": i.ID, "identifier": st.issueKey(i), "number": i.Number, "title": i.Title, "description": i.Description,
		"priority": i.Priority, "priorityLabel": "", "prioritySortOrder": 0, "sortOrder": 0, "previousIdentifiers": []any{},
		"teamId": st.Team.ID, "team": st.teamData(), "stateId": c.ID, "state": map[string]any{"id": c.ID, "name": c.Name, "type": c.Type, "color": "#888888"},
		"labelIds": i.Labels, "labels": labels, "subscriberIds": []any{}, "reactionData": []any{}, "url": st.issueURL(i),
		"createdAt": formatTime(i.Created), "updatedAt": formatTime(i.Updated),
	}
}

func (st *state) commentData(i *issue, c *comment) map[string]any {
	u := st.ensureUser(c.Author)
	return map[string]any{
		"id": c.ID, "body": c.Body, "issueId": i.ID, "userId": u.ID, "reactionData": []any{},
		"issue":     map[string]any{"id": i.ID, "identifier": st.issueKey(i), "title": i.Title, "teamId": st.Team.ID, "team": st.teamData(), "url": st.issueURL(i)},
		"user":      map[string]any{"id": u.ID, "name": u.Name, "email": u.Name + "@example.com", "url": "https://linear.test/profiles/" + u.ID},
		"createdAt": formatTime(c.Created), "updatedAt": formatTime(c.Created),
	}
}

// SignedDeliveries returns the deliveries since the last call, signed with the present time.
func (s *FakeServer) SignedDeliveries() ([]trackertest.Delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []trackertest.Delivery
	for _, o := range s.occurrences {
		d, err := s.signDelivery(o)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	s.occurrences = nil
	return out, nil
}

func (s *FakeServer) signDelivery(o occurrence) (trackertest.Delivery, error) {
	now := s.opts.Now().UnixMilli()
	body := map[string]any{
		"action": o.action, "type": o.kind, "data": o.data, "createdAt": formatTime(s.st.Last), "organizationId": s.st.Team.ID,
		"webhookId": s.st.Team.ID, "webhookTimestamp": now,
	}
	if o.url != "" {
		body["url"] = o.url
	}
	text, err := json.Marshal(body)
	if err != nil {
		return trackertest.Delivery{}, err
	}
	mac := hmac.New(sha256.New, []byte(s.opts.Secret))
	mac.Write(text)
	h := http.Header{}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Linear-Delivery", o.id)
	h.Set("Linear-Event", o.kind)
	h.Set("Linear-Timestamp", strconv.FormatInt(now, 10))
	h.Set("Linear-Signature", hex.EncodeToString(mac.Sum(nil)))
	return trackertest.Delivery{Header: h, Body: text}, nil
}
