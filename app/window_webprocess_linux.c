//go:build linux && !headless

#include <webkit2/webkit2.h>

#include "_cgo_export.h"

static void process_ended(WebKitWebView *view, WebKitWebProcessTerminationReason reason, gpointer data) {
  if (webProcessEnded((uintptr_t)data, reason == WEBKIT_WEB_PROCESS_EXCEEDED_MEMORY_LIMIT)) {
    webkit_web_view_reload(view);
  }
}

static void find_view(GtkWidget *widget, gpointer found) {
  if (WEBKIT_IS_WEB_VIEW(widget)) {
    *(GtkWidget **)found = widget;
  } else if (GTK_IS_CONTAINER(widget)) {
    gtk_container_forall(GTK_CONTAINER(widget), find_view, found);
  }
}

// A caret that blinks in the page wakes its process and ours twenty times a second, all the time: a terminal, which draws its
// own, has one in a field that nobody sees. One that is told not to blink at all wakes it more often still; so it blinks once
// in an hour.
static void still_caret(void) {
  g_object_set(gtk_settings_get_default(), "gtk-cursor-blink", TRUE, "gtk-cursor-blink-time", 3600 * 1000, NULL);
}

static gboolean watch(gpointer data) {
  still_caret();
  GtkWidget *view = NULL;
  GList *all = gtk_window_list_toplevels();
  for (GList *at = all; at != NULL; at = at->next) {
    find_view(GTK_WIDGET(at->data), &view);
  }
  g_list_free(all);
  if (view != NULL) {
    g_signal_connect(view, "web-process-terminated", G_CALLBACK(process_ended), data);
  }
  return G_SOURCE_REMOVE;
}

// The toolkit belongs to the main thread, so that the view is looked for there.
void termic_watch_web_process(uintptr_t handle) { g_idle_add(watch, (gpointer)handle); }
