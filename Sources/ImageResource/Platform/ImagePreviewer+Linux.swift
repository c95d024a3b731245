#if !canImport(ImageIO)
    import ImageCodecs
    import Synchronizer

    extension ImagePreviewer: Previewer {}
#endif
