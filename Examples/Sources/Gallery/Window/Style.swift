/// The gallery's additions to the theme. They use the theme's colours, so they fit light and dark.
enum Style {
    static let css = """
        .gallery gridview { padding: 10px; background: @theme_base_color; }
        .gallery gridview > child { padding: 8px; border-radius: 12px; background: none; }
        .gallery gridview > child:hover { background: alpha(currentColor, 0.05); }
        .gallery gridview > child:active { background: alpha(currentColor, 0.09); }
        .gallery gridview > child:focus-visible { outline: 2px solid @theme_selected_bg_color; outline-offset: -3px; }
        .photograph { padding: 0; margin: 0; min-width: 0; min-height: 0; }
        .photograph > .picture { margin-bottom: 6px; background: alpha(currentColor, 0.07); border-radius: 8px; }
        .photograph > .name { font-weight: 600; }
        .photograph > .author { font-size: smaller; color: alpha(currentColor, 0.65); }
        .failure { border-radius: 8px; background: none; border: none; box-shadow: none; }
        .failure:hover { background: alpha(currentColor, 0.08); }
        .failure > box { color: alpha(currentColor, 0.65); }
        .gallery headerbar { background: @theme_bg_color; box-shadow: none; border-bottom: 1px solid @borders; }
        .gallery headerbar button { background: none; border-color: transparent; box-shadow: none; }
        .gallery headerbar button:hover { background: alpha(currentColor, 0.08); }
        .gallery headerbar button:checked { background: alpha(currentColor, 0.16); }
        headerbar .heading { font-weight: bold; }
        headerbar .count { font-size: smaller; color: alpha(currentColor, 0.65); }
        .inspector { min-width: 204px; padding: 6px 18px 18px; background: @theme_bg_color;
                     border-left: 1px solid @borders; }
        .inspector .heading { font-weight: bold; margin-top: 14px; margin-bottom: 4px; }
        .inspector .name { color: alpha(currentColor, 0.75); }
        .inspector .value { font-feature-settings: "tnum"; }
        .notice { padding: 8px 14px; margin-bottom: 18px; border-radius: 9px; color: white;
                  background: alpha(black, 0.78); }
        .detail { background: @theme_base_color; }
        .detail .caption-bar { padding: 10px 18px 12px; background: @theme_bg_color; border-top: 1px solid @borders; }
        .detail .caption-bar .name { font-weight: bold; }
        .detail .caption-bar .author { color: alpha(currentColor, 0.7); }
        .detail .zoom { font-feature-settings: "tnum"; min-width: 4em; }
        .detail .neighbour { margin: 0 14px; }
        """
}
