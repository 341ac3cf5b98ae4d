//go:build e2e && linux && !headless

#include <webkit2/webkit2.h>

// The driver asks for a web view: it gets the one that the window has.
static GtkWidget *give_view(WebKitAutomationSession *session, gpointer view) {
  (void)session;
  return view;
}

static void automation_started(WebKitWebContext *context, WebKitAutomationSession *session, gpointer view) {
  (void)context;
  g_signal_connect(session, "create-web-view", G_CALLBACK(give_view), view);
}

// Stands before the function of the same name in WebKitGTK, by which the window's toolkit makes its view.
GtkWidget *webkit_web_view_new_with_user_content_manager(WebKitUserContentManager *manager) {
  WebKitWebContext *context = webkit_web_context_get_default();
  webkit_web_context_set_automation_allowed(context, TRUE);
  GtkWidget *view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "web-context", context, "user-content-manager", manager,
                                 "is-controlled-by-automation", TRUE, NULL);
  g_signal_connect(context, "automation-started", G_CALLBACK(automation_started), view);
  return view;
}
